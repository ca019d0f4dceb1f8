import { CompareScreen } from '#components/compare/screen.tsx'

/** The page /compare: two trajectories side by side. */
export default function ComparePage() {
  return <CompareScreen />
}
