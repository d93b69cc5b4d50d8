"""Parses every pipeline below a folder with PyYAML's C loader."""

import os
import sys

import yaml

for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith((".orch.yaml", ".tran.yaml")):
            with open(os.path.join(folder, name), "rb") as file:
                yaml.load(file, Loader=yaml.CSafeLoader)
