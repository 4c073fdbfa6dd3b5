"""One declaration per question: what is asked, who answers, in which words, with which plots, and what to ask next."""
