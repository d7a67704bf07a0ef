"""Three small networks, one after the other, that propose, refine and keep boxes."""

import numpy as np
from facenet_pytorch import MTCNN


def build_detector():
    return MTCNN(keep_all=True, post_process=False, device="cpu")


def find_faces(detector, batch):
    """Return a result a picture: boxes (face, 4) x1 y1 x2 y2, scores (face,), landmarks (face, 5, 2)."""
    return [_find(detector, np.asarray(pixels)) for pixels in batch]


def _find(detector, pixels):
    boxes, scores, landmarks = detector.detect(pixels, landmarks=True)
    n_faces = 0 if boxes is None else len(boxes)
    found = {"boxes": (boxes, (4,)), "scores": (scores, ()), "landmarks": (landmarks, (5, 2))}
    return {
        name: np.array(values[:n_faces] if n_faces else [], dtype=np.float32).reshape(n_faces, *shape)
        for name, (values, shape) in found.items()
    }
