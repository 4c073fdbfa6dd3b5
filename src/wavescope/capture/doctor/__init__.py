"""Everything between a machine and a good capture: a declared table of checks, and what they give."""

from wavescope.capture.doctor.check import Area as Area
from wavescope.capture.doctor.check import Check as Check
from wavescope.capture.doctor.check import Level as Level
from wavescope.capture.doctor.check import Status as Status
from wavescope.capture.doctor.examination import examine as examine
from wavescope.capture.doctor.machine_facts import machine_facts as machine_facts
from wavescope.capture.doctor.rules import RULES as RULES
