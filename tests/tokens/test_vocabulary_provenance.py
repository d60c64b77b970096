"""The bundled vocabularies are the published ones, byte for byte, with the published rules."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from inspect import getsource

import pytest
import tiktoken_ext.openai_public as published

from promptsections.tokens import tiktoken_encoding

SIZES = {"o200k_base": 199_998, "cl100k_base": 100_256}


@pytest.mark.parametrize("name", SIZES)
def test_the_published_file_can_be_rebuilt_from_the_bundled_one(name):
    ranks = tiktoken_encoding.read_ranks(name, SIZES[name])

    official = b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())

    digest = sha256(official).hexdigest()
    source = getsource(getattr(published, name))
    assert f'{name}.tiktoken",\n        expected_hash="{digest}"' in source


def test_the_splitting_rules_are_the_published_ones(monkeypatch):
    monkeypatch.setattr(published, "load_tiktoken_bpe", lambda *_, **__: {})

    assert published.o200k_base()["pat_str"] == tiktoken_encoding.O200K_PATTERN
    assert published.cl100k_base()["pat_str"] == tiktoken_encoding.CL100K_PATTERN
