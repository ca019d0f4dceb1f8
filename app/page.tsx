import { PlaygroundScreen } from './playground-screen.tsx'

export default function PlaygroundPage() {
  return <PlaygroundScreen />
}
