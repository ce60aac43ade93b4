module windlass.dev/bench/floor

go 1.26.0
