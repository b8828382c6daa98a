"""Values that everything else is made of: ids, instants, periods, JSON bytes, digests, seals."""
