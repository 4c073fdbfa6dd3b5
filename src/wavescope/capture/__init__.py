"""From a program and a GPU to data that are worth reading: machine facts, commands, runs, verdicts, pools of GPUs."""
