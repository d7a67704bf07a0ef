"""How the weights and the pictures of this example were made: `python train.py`, some minutes on one core."""

from pathlib import Path

import numpy as np
import torch
from parts.drawing import draw_scene
from parts.network import build_network
from PIL import Image
from safetensors.torch import save_file

HERE = Path(__file__).parent
N_PICTURES, N_STEPS, N_BATCH = 24, 900, 32
FIRST_TRAINING_SEED = 1000


def make_batch(seeds):
    scenes = [draw_scene(seed) for seed in seeds]
    pictures = np.stack([picture for picture, _ in scenes]).astype(np.float32) / 255
    masks = np.stack([mask for _, mask in scenes]).astype(np.int64)
    return torch.from_numpy(pictures.transpose(0, 3, 1, 2).copy()), torch.from_numpy(masks)


def main():
    folder = HERE / "pictures"
    folder.mkdir(exist_ok=True)
    for seed in range(N_PICTURES):
        Image.fromarray(draw_scene(seed)[0]).save(folder / f"belt-{seed:02d}.png")
    torch.manual_seed(0)
    network = build_network().train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=N_STEPS)
    for step in range(N_STEPS):
        start = FIRST_TRAINING_SEED + step * N_BATCH
        pictures, masks = make_batch(range(start, start + N_BATCH))
        loss = torch.nn.functional.cross_entropy(network(pictures), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print(f"step {step + 1}: loss {loss.item():.4f}")
    network.eval()
    pictures, masks = make_batch(range(N_PICTURES))
    with torch.no_grad():
        found = network(pictures).argmax(1)
    print(f"right on the {N_PICTURES} pictures: {(found == masks).double().mean():.2%} of all pixels")
    save_file(network.state_dict(), HERE / "weights.safetensors")


if __name__ == "__main__":
    main()
