"""The census: its library over a stand-in of CUPTI, its reader, its choice."""
