import { persist, count } from "./store";

export async function sell(sale) {
  persist(sale); // flag: CoTm floating-async
  count(sale); // fine: CoTm
  await persist(sale); // fine: CoTm
  void persist(sale); // fine: CoTm
}
