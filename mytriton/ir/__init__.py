"""Typed tile SSA: values, operations, builder, printer, verifier and the interpreter that defines their meaning."""
