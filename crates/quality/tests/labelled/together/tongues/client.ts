export const orderPort = 7441; // flag: CoV same-name-same-literal
