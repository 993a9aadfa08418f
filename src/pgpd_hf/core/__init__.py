"""The model: CMDPs, policies, links, sampling, evaluators and random streams."""
