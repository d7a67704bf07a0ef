"""What an HTML report shows of a run beside its numbers, gathered from its folder, goldens and samples.

Modules: ``gathering`` (all of a run, and how much of it), ``faces`` (what a sample is), ``both_sides``
(one case opened: golden and observation), then one module a thing to look at: ``class_bars``,
``box_pairs``, ``mask_pairs``, ``fed_inputs``, ``module_errors``, ``value_pairs``. What is not there, is
damaged or was replaced since is left out: a report never fails for want of a picture.

To show one more thing, add its value to ``domain.exhibit`` and a module here, and call it from ``gathering``.
"""

from pytest_modelreg.engine.exhibits.gathering import gather_exhibits

__all__ = ["gather_exhibits"]
