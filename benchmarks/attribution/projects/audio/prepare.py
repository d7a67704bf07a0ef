"""Make waveforms, int16 (channel, sample) = (2, 8000), and draw the weights."""

from pathlib import Path

import network
import numpy as np
import pipeline
import torch
from safetensors.torch import save_file

Path("samples").mkdir()
rng = np.random.default_rng(13)
time_s = np.arange(8000) / 16000
waves = []
for index in range(12):
    pitch_hz = rng.uniform(90, 1200, (2, 3))
    tones = sum(np.sin(2 * np.pi * pitch_hz[:, [k]] * time_s + k) / (k + 1) for k in range(3))
    swell = np.exp(-3 * np.abs(time_s - rng.uniform(0.1, 0.4)))
    wave = tones * swell * rng.uniform(2000, 9000) + rng.normal(0, 200, (2, 8000)) + rng.uniform(-300, 300)
    waves.append(wave.round().astype(np.int16))
    np.save(f"samples/w{index:02d}.npy", waves[-1])
torch.manual_seed(13)
model = network.build()
batch = torch.stack([pipeline.prepare(wave) for wave in waves])
model.train()
with torch.no_grad():
    for _ in range(40):
        model(batch)
save_file(model.state_dict(), "weights.safetensors")
