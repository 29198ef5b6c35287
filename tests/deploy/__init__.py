"""The files of deploy/: what they say holds, by the programs that read them."""
