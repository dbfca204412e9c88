export async function persist(sale) {
  return sale;
}

export function count(sales) {
  return sales.length;
}
