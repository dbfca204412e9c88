ORDER_PORT = 7441  # fine: CoV
