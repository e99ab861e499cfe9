"""Sample problem sets whose evaluators meet the contract."""
