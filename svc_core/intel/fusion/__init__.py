"""What several kinds of rows tell of one company in one window, joined and explained."""
