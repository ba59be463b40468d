"""Who really wrote a message that came in: SPF, DKIM, ARC and DMARC, and the verdict that they make together."""
