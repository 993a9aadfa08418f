"""The paper's statements about runs, and whether the runs reproduce or contradict them.

`declaration` reads and checks config/claims.yaml, `evidence` turns traces into statistics per seed,
`criteria` says which contrasts of these have to lie in which interval, and `verdicts` tests that.
`power` says how likely a verdict is, `inference` which N the statements speak for. A
statement is added as one entry of config/claims.yaml, or of a file of one's own that
`claims.statements` lists; a criterion as one function of `criteria`. docs/claims.md explains it.
"""
