import { Counter } from './counter.tsx'

/** A page with one control, the least that can be interactive. */
export default function BarePage() {
  return <Counter />
}
