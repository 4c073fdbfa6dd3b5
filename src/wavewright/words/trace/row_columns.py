"""Columns that many tables about traces have."""

from wavewright.words.kit.frame_tables import Column, brief_place, hexadecimal

ADDRESS = Column("address", lambda row: hexadecimal(row["address"]), handle="i")
INSTRUCTION = Column("instruction", lambda row: row["text"] or "?", takes_rest=True)
SOURCE = Column("source", lambda row: brief_place(row["file"], row["line"]), is_text=True, is_fixed=True, is_name=True)
LINE = Column("line", SOURCE.cell, is_text=True, is_fixed=True, is_name=True)
WAVE = Column("wave", lambda row: str(row["wave"]), handle="w")
