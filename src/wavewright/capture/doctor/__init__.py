"""Everything between a machine and a good capture: a declared table of checks, and what they give."""

from wavewright.capture.doctor.check import Area as Area
from wavewright.capture.doctor.check import Check as Check
from wavewright.capture.doctor.check import Level as Level
from wavewright.capture.doctor.check import Status as Status
from wavewright.capture.doctor.examination import examine as examine
from wavewright.capture.doctor.machine_facts import machine_facts as machine_facts
from wavewright.capture.doctor.rules import RULES as RULES
