export const ORDER_PORT = 7441; // flag: CoV same-name-same-literal
