"""What each objective and each graph encoder is worth: trained alike, evaluated alike, compared."""
