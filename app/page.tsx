import { PlaygroundScreen } from '#components/playground/screen.tsx'

export default function PlaygroundPage() {
  return <PlaygroundScreen />
}
