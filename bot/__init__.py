"""The Discord side: settings, services, database, reports. Only the client modules know discord."""
