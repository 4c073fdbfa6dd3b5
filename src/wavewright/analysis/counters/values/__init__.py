"""What are the metrics of each kernel, or of each dispatch, and which dispatches are not like the others?"""
