"""Fusion: what several kinds of rows tell of one company together, joined and explained."""
