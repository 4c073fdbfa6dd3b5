"""The part of wavewright that runs on the other machine: it is sent there over the connection and leaves no program.

It answers questions about files, runs programs and sends what they left; all decisions are taken by who asks. This one
file must run on Python 3.6 with nothing but the standard library: it is what old distributions have.

A message, in both directions, is two big-endian 32-bit lengths, a JSON object, and bytes that belong to it. Requests
have an `id`, which is in the answer; names of files are UTF-8 with surrogates for other bytes. Before the first answer
a random mark is printed, because shells greet with all kinds of text.

Of each capture there is a folder, of which `data` is where programs leave files; `runs` has for each program its
output and a state: who watches it, and how it ended. When the connection is lost, programs are stopped as after Ctrl-C
and get the time to write their data; the next connection finds everything in that folder.
"""
