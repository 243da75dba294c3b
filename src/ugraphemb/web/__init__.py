"""The server of `ugraphemb serve` (extra `web`): an HTTP API over an index, and the page that uses it.

settings.py     limits, address, token
refusals.py     every error that a client sees
bodies.py       what requests may say
answers.py      what responses say
queries.py      from a request to graphs
collection.py   one state of an index: rows, columns, positions, places on the map
summaries.py    what a collection holds, in numbers
map_files.py    the map as a file of the index
drawings.py     graphs as SVG
edits.py        the way from one graph to another, step by step
tables.py       Arrow responses and exports
work.py         threads: one batch for queries that arrive together, few slots for proofs
searches.py     search, at once or as a stream
service.py      what is served: reloads a changed index, computes its map
safety.py       host, token, sizes, headers
routes.py       the API
app.py          the application
server.py       sockets, signals, the bundled molecules
"""
