import { ExampleScreen } from '#components/inspector/screen.tsx'

/** The page /example/NAME: a trajectory that ships with the application. */
export default async function ExamplePage({ params }: { readonly params: Promise<{ name: string }> }) {
  return <ExampleScreen name={decodeURIComponent((await params).name)} />
}
