"""The vocabulary of the generated dialogues. Plain lists: what a word means for a task is said where it is used."""

CITIES = """
Paris London Berlin Madrid Rome Vienna Prague Oslo Dublin Lisbon Athens Warsaw Budapest Helsinki Stockholm Bergen
Copenhagen Amsterdam Brussels Zurich Geneva Munich Hamburg Milan Naples Venice Florence Turin Barcelona Seville Porto
Basel Lyon Nice Tokyo Osaka Kyoto Seoul Busan Beijing Shanghai Taipei Hanoi Bangkok Manila Jakarta Singapore Sydney
Melbourne Perth Brisbane Auckland Wellington Cairo Lagos Nairobi Accra Tunis Dakar Mumbai Delhi Chennai Karachi Lahore
Dhaka Tehran Baghdad Dubai Doha Ankara Istanbul Moscow Kyiv Riga Vilnius Tallinn Chicago Boston Denver Seattle Houston
Dallas Austin Miami Atlanta Detroit Phoenix Portland Toronto Montreal Vancouver Ottawa Calgary Bogota Lima Quito
Santiago Caracas Havana Edinburgh Glasgow Bristol Leeds York Cork Ghent Bonn Cologne Dresden Leipzig Salzburg Graz
Krakow Sofia Zagreb Split Malta
""".split()

TWO_WORD_CITIES = [
    "New York",
    "San Francisco",
    "Los Angeles",
    "Cape Town",
    "Hong Kong",
    "Rio de Janeiro",
    "Tel Aviv",
    "Mexico City",
    "Buenos Aires",
    "New Delhi",
    "St. Petersburg",
    "Salt Lake City",
    "São Paulo",
    "Zürich",
    "Kraków",
    "Málaga",
]

FIRST_NAMES = """
Anna Ben Carla David Emma Felix Greta Hugo Ida Jack Karen Leo Mia Noah Olga Paul Rosa Sam Tina Uma Victor Wendy Xavier
Yara Zoe Alice Bob Carol Dan Eve Frank Grace Henry Irene John Kate Liam Maria Nina Oscar Peter Ruth Simon Tom Vera
Will Ali Chen Diego Fatima Hana Ivan Jorge Kofi Lina Mei Omar Priya Ravi Sara Yuki Zhang Amir Lucy Max Julia Martin
Laura
""".split()

LAST_NAMES = """
Smith Jones Brown Miller Davis Wilson Moore Taylor Clark Lewis Walker Hall Young King Wright Scott Green Baker Adams
Nelson Carter Novak Meyer Weber Rossi Silva Kim Lee Singh Khan Tanaka Costa Larsen Dubois Moreau Fischer Klein Popov
""".split()

LANGUAGES = """
English French German Spanish Italian Dutch Polish Greek Latin Danish Swedish Turkish Hindi Arabic Korean Chinese
Japanese
""".split()
CURRENCIES = "EUR USD GBP JPY CHF SEK INR euros dollars pounds yen".split()
COLOURS = "red green blue yellow black white orange purple pink brown grey silver gold violet cyan".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
DOMAINS = "com org net de io co.uk fr edu example.com example.org mail.net".split()
FILE_ENDINGS = "txt csv json md pdf png log yaml py ts html xml zip sql".split()

VERBS = """
get fetch find search list read send post create make delete remove update set add count check start stop open close
load save run query show scan sync merge split convert translate resolve book order cancel rent track rank rate sort
ping render draw print parse format encode decode pick choose move copy rename share invite measure compare archive
publish approve reject assign schedule play pause switch lock unlock reserve pay refund upload download install
restart deploy test validate summarise describe classify detect estimate predict roll flip generate import export
backup restore subscribe register log report label tag block report mute follow lookup look review sign call charge
clean cook dim plan buy sell
""".split()

NOUNS = """
user item order invoice ticket file note page room flight hotel price stock event task report mail message contact
address score image colour song movie book recipe route car train bus phone device sensor light door lamp alarm timer
account card payment refund product cart review comment tag log record table row sheet document secret token quote
unit currency balance team player game map garden plant animal package parcel letter calendar meeting reminder photo
video channel branch commit issue build job queue node cluster weather forecast temperature time date word definition
synonym text sentence language city country capital population distance speed weight height length size age level
status version backup database index key value setting option profile group member customer supplier employee salary
shift holiday course lesson student teacher grade exam question answer survey poll vote result match league seat menu
dish drink restaurant table kitchen shop store shelf box bag coat shoe shirt dice coin number password session server
host port domain certificate network printer camera speaker window blind heater thermostat fan engine battery tyre
wheel bike boat ship tunnel bridge river lake mountain island beach tree flower bird fish horse dog cat
""".split()

ADJECTIVES = """
new old big small long short fast slow high low hot cold warm red green blue first last next main open closed free
full empty cheap quick quiet loud dark bright early late public private local global daily weekly monthly yearly
current latest active final simple hidden secure broken fresh dry wet soft hard strong weak rich safe happy angry
urgent blank spare
""".split()

PLAIN = """
about access after again all also always and another any arithmetic around ask away back basic because before begin
best between body both bring brother building business call can carry certain change child class clear come common
complete computer concise could day decide depend difference different do down drive during each east easy eat end
enough error even evening ever every example expression face fact false family far father feel few field fire food for
friend from function future garden give go good great hand happen have head hear help here home hour house how idea
important in inside into it job keep kind know land large later learn leave left less life like line little live look
lose love machine make man many math mathematical may mean might minute mobile moment money month more morning mother
move much music must name near need never night no normal north nothing now object of off office often on once one
only operation other out over own paper parameters part party people person place point possible power present problem
programme properties put question quiet rain reach read real request required result return right road run same say
school second see service set several should side since sky small snow some something soon sound south space special
stand start state still stop storm story street string strong such sun sure system take talk tell than thank that the
their then there thing think this though thought through today together tomorrow tonight tool top total town tree trip
true try turn two type under until up use value very visit voice wait walk want water way week well west what when
where which while white who why wind with woman wood word work world would write wrong year yes yesterday yet you
young
""".split()

FRUIT = """
apples pears oranges lemons plums eggs cookies sweets books pens pencils stamps marbles coins stickers cards tickets
bottles boxes chairs tables flowers trees cats dogs birds fish stones bricks shirts shoes cups plates seats rooms cars
bikes balls toys
""".split()

ARGUMENT_WORDS = """
id key name query text city date day year count limit size mode kind type level path url title user email code amount
price unit source target start end language color format tag note reason value number index page sort priority status
topic region speed width height depth rate owner group label model style weight age term word place room seat step
host port file folder message subject body content filter offset format currency symbol street country zone channel
quantity duration brand category field
""".split()

FLAGS = """
verbose force dry_run recursive exact urgent silent fast active public strict debug enabled cached private sorted
compact archived online visible locked shared automatic express gift
""".split()

ENUMS = [
    options.split()
    for options in """
fast slow|low medium high|asc desc|red green blue|json csv xml|draft final|small medium large|open closed
north south east west|read write|full short|metric imperial|daily weekly monthly|en de fr es|soft hard
web mail sms|on off|celsius fahrenheit|first second third|low normal high urgent|pdf html|celsius kelvin
economy business first|single double suite|todo doing done|info warning error|GET POST PUT DELETE|light dark
in out|ascending descending|public private|cash card|walk bike car train|newest oldest|hot cold|buy sell
start stop pause|left right|basic premium|km miles
""".strip()
    .replace("\n", "|")
    .split("|")
]

# Pseudo-words are built from these, so that no name can be known by heart.
ONSETS = (
    "b br c ch cl d dr f fl g gl gr h j k kl kr l m n p pl pr qu r s sh sk sl sm sn sp st t th tr tw v w x y z".split()
)
VOWELS = "a e i o u ai ea ou ee oo ia y".split()
CODAS = ["", "", "", "n", "r", "l", "s", "t", "m", "nd", "x", "ck", "ng", "rt", "b", "g", "p"]
