"""ONNX Runtime: sessions, values, exporters to ONNX, and the words for what fails there.

What belongs here: everything that imports ``onnx`` or ``onnxruntime``. The runtimes that use
it are ``onnx`` and ``onnx_file``, one folder up.
"""
