"""What do the counters of a capture say: every metric of the panels, over the chosen dispatches?"""
