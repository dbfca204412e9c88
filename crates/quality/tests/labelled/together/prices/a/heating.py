class Heating:
    def get_heat_pump_price(self):
        return 10.57  # flag: CoV same-name-same-literal
