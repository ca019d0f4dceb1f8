import { PlaygroundScreen } from '#components/playground/screen.tsx'

/** The page /: the playground. */
export default function PlaygroundPage() {
  return <PlaygroundScreen />
}
