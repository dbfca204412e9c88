export function useCounter() {
  const [count, setCount] = useState(0);  // fine: CoP
  return { count, setCount };
}

export function overloaded(value: string): string;  // fine: CoN
export function overloaded(value: number): string;  // fine: CoN
export function overloaded(value: string | number): string {  // fine: CoN
  return String(value);
}

export function log(value: string) {
  console.log((value as any).length);  // flag: CoT
}

export let registry: Map<string, string> = new Map();  // flag: CoI module-mutable

export function register(name: string) {
  registry.set(name, name);
}

export function lookup(name: string) {
  return registry.get(name);
}

export function greet(name: string) {
  setTimeout(() => console.log(name), 500);  // fine: CoTm
}
