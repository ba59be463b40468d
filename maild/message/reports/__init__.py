"""What mail systems report: deliveries that failed, complaints, and how mail of a domain fared."""
