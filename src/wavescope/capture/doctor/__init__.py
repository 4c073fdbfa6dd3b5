"""Everything between a machine and a good capture: a declared table of checks, and what they give."""

from wavescope.capture.doctor.changes import Change as Change
from wavescope.capture.doctor.changes import set_steady_clocks as set_steady_clocks
from wavescope.capture.doctor.check import Area as Area
from wavescope.capture.doctor.check import Check as Check
from wavescope.capture.doctor.check import Level as Level
from wavescope.capture.doctor.check import Status as Status
from wavescope.capture.doctor.examination import examine as examine
from wavescope.capture.doctor.machine_facts import machine_facts as machine_facts
from wavescope.capture.doctor.rules import RULES as RULES
