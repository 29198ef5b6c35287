"""The registry: a new system is a module here and a line below."""

from simulator.systems.base import System
from simulator.systems.chatgpt import ChatGPT
from simulator.systems.copilot import Copilot
from simulator.systems.gemini.system import Gemini
from simulator.systems.google_ai import GoogleAI
from simulator.systems.perplexity import Perplexity

SYSTEMS: tuple[System, ...] = (ChatGPT(), Perplexity(), Copilot(), Gemini(), GoogleAI())
