"""Payloads of providers: messages as plain data that their APIs accept, one module for each API.

from promptsections.providers import openai_chat

request = openai_chat.to_request(rendered)
"""
