#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What is refused, in which words, with exit code 2 and nothing on standard output.

. "${0%/*}/lib.sh"

size='B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB'
time='ns, us, ms, s, min, h, cycles'

# hbf REFUSAL WORD...: of a scenario of hbf that is fine but for the word.
hbf() {
    reason=$1
    shift
    refuses "$reason" estimate hbf model=llama-8b "$@"
}

# ---- keys ----

hbf 'buffr is not a key of hbf: did you mean buffer?' buffr=8MB
hbf 'BUFFER is not a key of hbf: did you mean buffer?' BUFFER=8MB
hbf 'bufefr is not a key of hbf: did you mean buffer?' bufefr=8MB
hbf "elephants is not a key of hbf: 'stallcast list fields hbf' shows them" elephants=8
hbf "no key of hbf is as long as 'keykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykey'" \
    keykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykeykey=8
hbf "expected key=value, got 'buffer'" buffer
hbf "expected key=value, got '=8MB'" =8MB
hbf "expected key=value, got ''" ''
hbf "expected key=value, got '-'" -
hbf 'buffer=9MB: buffer is given twice' buffer=8MB buffer=9MB
hbf 'buffer_MB=9: buffer is given twice' buffer=8MB buffer_MB=9
hbf 'tp=2: tensor_parallel is given twice' tensor_parallel=1 tp=2
hbf 'model=llama-70b: model is given twice' model=llama-70b

# ---- numbers and units ----

hbf "buffer=8: expected a size with a unit ($size), got '8'" buffer=8
hbf "buffer=8us: expected a size ($size), got '8us', a time" buffer=8us
hbf "buffer=8mb: expected a size ($size), got '8mb': did you mean MB?" buffer=8mb
hbf "buffer=8XB: expected a size ($size), got '8XB': no such unit" buffer=8XB
hbf "buffer=: expected a size ($size), got ''" buffer=
hbf "buffer= : expected a size ($size), got ''" 'buffer= '
hbf "buffer=MB: expected a size ($size), got 'MB'" buffer=MB
hbf "buffer=8 MB x: expected a size ($size), got '8 MB x'" 'buffer=8 MB x'
hbf "latency=nan: expected a time ($time), got 'nan'" latency=nan
hbf "latency=-inf: expected a time ($time), got '-inf'" latency=-inf
hbf "latency=0x1us: expected a time ($time), got '0x1us'" latency=0x1us
hbf "latency=1e999s: expected a time, got '1e999s': too large or too small for a number" \
    latency=1e999s
hbf "batch=8MB: expected a pure number, got '8MB', a size" batch=8MB
hbf "buffer=1B: expected a value from 4.096 kB to 1 TB, got '1B'" buffer=1B
hbf "buffer=-8MB: expected a value from 4.096 kB to 1 TB, got '-8MB'" buffer=-8MB
hbf "retry=60%: expected a value from 0 to 0.5, got '60%'" retry=60%
hbf "sshr=1.5: expected a whole number, got '1.5'" sshr=1.5
hbf "buffer=8MB,: expected a size ($size), got ''" buffer=8MB,
hbf "buffer=,8MB: expected a size ($size), got ''" buffer=,8MB
hbf "latency=5cycles: cycles have no meaning here: hbf has no clock" latency=5cycles
hbf "batch=1'000: expected a pure number without thousands separators, got '1'000'" "batch=1'000"
long=111111111111111111111111111111111111111111111111111111111
hbf "batch=${long%111}...: expected a value from 1 to 1000000, got '$long...'" "batch=${long}11111"
hbf "buffer=8?[2J: expected a size ($size), got '8?[2J'" "$(printf 'buffer=8\033[2J')"
hbf "buffer=8?: expected a size ($size), got '8?': no such unit" "$(printf 'buffer=8\377')"
refuses 'latency: expected a value from 1 ns to 1 s, got 883.392 s' \
    estimate stream latency=1e12cycles

# ---- names ----

hbf "phase=decoed: expected one of its choices, got 'decoed': did you mean decode?" phase=decoed
hbf "phase=Decode: expected one of its choices, got 'Decode': did you mean decode?" phase=Decode
hbf "phase=zzz: expected one of decode, prefill, got 'zzz'" phase=zzz
hbf "phase=: expected one of decode, prefill, got ''" phase=
hbf "phase=@x: expected one of decode, prefill, got '@x'" phase=@x
hbf "policy=slipsteam: expected one of its choices, got 'slipsteam': did you mean slipstream?" \
    policy=slipsteam
hbf "gpu=a100-sin: expected a row of gpus, got 'a100-sin': did you mean a100-sim?" gpu=a100-sin
hbf "gpu=A100-SIM: expected a row of gpus, got 'A100-SIM': did you mean a100-sim?" gpu=A100-SIM
hbf "gpu=abacus-of-wood: expected a row of gpus, got 'abacus-of-wood': 'stallcast list gpus' shows them" \
    gpu=abacus-of-wood
hbf "gpu=: expected a row of gpus, got '': 'stallcast list gpus' shows them" gpu=
hbf "gpu=@: expected a row of gpus, got '@': 'stallcast list gpus' shows them" gpu=@
hbf 'gpu=@abacus: no row of gpus carries the tag abacus' gpu=@abacus
refuses "model=llama-8c: expected a row of models, got 'llama-8c': did you mean llama-8b?" \
    estimate hbf model=llama-8c
refuses "model=llama-8b,llama-8c: expected a row of models, got 'llama-8c': did you mean llama-8b?" \
    estimate hbf model=llama-8b,llama-8c
far=$(printf '%0300d' 0)
ok 'a very long name is like no other' sh -c \
    "! '$program' estimate hbf model=$far 2>&1 | grep 'did you mean'"
refuses 'layers: expected a value, got none: give model=NAME or layers=VALUE' estimate hbf
refuses 'line: 16 B must not be smaller than a sector' estimate stream line=16B

# ---- lists and ranges ----

hbf 'latency=5us:20us: expected a range low:high:step or low:high:*factor' latency=5us:20us
hbf 'latency=5us:20us:0us: expected a step that is not zero' latency=5us:20us:0us
hbf "latency=5us:20us:5: expected a time with a unit ($time), got '5'" latency=5us:20us:5
hbf "latency=5us:20us:5MB: expected a time ($time), got '5MB', a size" latency=5us:20us:5MB
hbf "latency=5us::5us: expected a time ($time), got ''" latency=5us::5us
hbf "latency=5us:20us:: expected a time ($time), got ''" latency=5us:20us:
hbf 'latency=20us:5us:1us: expected a range that its step can walk, low:high:step' \
    latency=20us:5us:1us
hbf 'latency=5us:20us:-1us: expected a range that its step can walk, low:high:step' \
    latency=5us:20us:-1us
hbf 'latency=20us:5us:*2: expected a range that its step can walk, low:high:step' \
    latency=20us:5us:*2
for factor in '*1' '*0' '*-2' '*x' '*2us'; do
    hbf "latency=5us:20us:$factor: expected a factor such as *2 between values above zero" \
        "latency=5us:20us:$factor"
done
hbf 'retry=0:0.5:*2: expected a factor such as *2 between values above zero' 'retry=0:0.5:*2'
hbf "latency=5us:20us:*: expected a time ($time), got '*'" 'latency=5us:20us:*'
hbf 'latency=5us:20us:1e-13s: latency: more than 10000000 values' latency=5us:20us:1e-13s
hbf 'latency=5us:20us:*1.0000000001: latency: more than 10000000 values' \
    latency=5us:20us:*1.0000000001
hbf "latency=1ns:20us:1us: expected a value from 100 ns to 10 ms, got '1ns'" latency=1ns:20us:1us
hbf 'batch=1:5:0.5: expected steps that stay whole numbers' batch=1:5:0.5
hbf 'batch=1:9:*1.5: expected steps that stay whole numbers' batch=1:9:*1.5
hbf 'batch=1:4000:1: more than 10000000 scenarios in all' sshr=1:4000:1 batch=1:4000:1
for range in 100cycles:200cycles:10us 100us:200us:10cycles 100cycles:200us:10us; do
    refuses "latency=$range: expected a range all in cycles, or nothing of it" \
        estimate stream latency=$range
done

# ---- files as values ----

printf 'name,sms\nmine,108\nbad,many\n' >gpus.csv
printf '{ "hidden_size": 4096' >open.json
hbf 'gpu=none.csv:mine: none.csv: No such file or directory' gpu=none.csv:mine
hbf "gpu=gpus.csv:yours: expected a row of gpus.csv, got 'yours'" gpu=gpus.csv:yours
hbf "gpu=gpus.csv:bad: gpus.csv:3: sms: expected a pure number, got 'many'" gpu=gpus.csv:bad
hbf 'gpu=models:llama-8b: models: No such file or directory' gpu=models:llama-8b
hbf 'gpu=.:mine: .: this is a directory, not a file: Is a directory' gpu=.:mine
hbf "gpu=open.json: expected a row of gpus, got 'open.json': 'stallcast list gpus' shows them" \
    gpu=open.json
refuses "model=none.json: expected a config.json, got 'none.json': No such file or directory" \
    estimate hbf model=none.json
stallcast estimate hbf model=open.json >out 2>err
ok 'a broken config.json: exit code 2, file, line and column' sh -c \
    "[ $? -eq 2 ] && [ ! -s out ] && grep '^stallcast: model=open.json: open.json:1:[0-9]*: ' err"

# ---- options, commands, systems ----

refuses "expected a command: 'stallcast --help' lists them"
refuses "no command 'estimat': did you mean estimate?" estimat
refuses "no command 'cook': 'stallcast --help' lists them" cook
refuses "no command 'lst': did you mean list?" help lst
refuses 'estimate: expected a system first: estimate SYSTEM [key=value ...] [options]' estimate
refuses "no system 'hfb': did you mean hbf?" estimate hfb
refuses "no system 'model=llama-8b': 'stallcast list systems' shows them" estimate model=llama-8b
refuses "no system 'abacus': 'stallcast list systems' shows them" explain abacus
hbf 'no option --formt: did you mean --format?' --formt=csv
hbf 'no option --abacus: --help lists those there are' --abacus
hbf 'no option --: --help lists those there are' --=3
hbf 'no option -q: --help lists those there are' -q
hbf 'no option -q?: --help lists those there are' "$(printf -- '-q\001')"
hbf '--strict takes no value' --strict=yes

# Every option of every command that is not for several values, in all its forms.
for command in estimate explain rank simulate calibrate validate import compare fit plot mrc list; do
    "$program" $command --help | sed -n '/^options:/,$p' >help
    sed -n 's/^ *\(-\([a-z]\), \)\{0,1\}--\([a-z-]*\) \([A-Za-z]\{0,1\}\).*/\3 \2:\4/p' help |
        grep -Ev '^(free|fail-above|map) ' >once
    ok "$command: options are found" [ "$(wc -l <once)" -ge 5 ]
    while read -r option rest; do
        case ${rest#*:} in
        [a-zA-Z]) set -- --"$option" x --"$option=y" ;;
        *) set -- --"$option" --"$option" ;;
        esac
        refuses "--$option is given twice" $command "$@"
    done <once
done
hbf '--output is given twice' -o a --output=b
ok 'and nothing was written' [ ! -e a -a ! -e b ]
hbf '-h takes no value' -hx
hbf '--format needs a value: --format FORMAT' --format
for option in from format output columns only digits jobs delimiter decimal data; do
    "$program" estimate hbf --$option '' >out 2>err
    code=$?
    ok "--$option with an empty value" sh -c \
        "[ $code -eq 2 ] && [ ! -s out ] && grep '^stallcast: --$option needs a value: ' err"
done
hbf "--format: expected one of table, csv, tsv, json, jsonl, md, got 'xml'" -f xml
for digits in 0 18 -1 1.5 x ' 3' +3 3x 99999999999999999999; do
    hbf "--digits: expected a whole number from 1 to 17, got '$digits'" --digits "$digits"
done
for jobs in 0 257 -1 many; do
    hbf "--jobs: expected a whole number from 1 to 256, got '$jobs'" --jobs "$jobs"
done
hbf "--delimiter: expected one of , ; tab |, got 'x'" --delimiter x
hbf "--delimiter: expected one of , ; tab |, got ',,'" --delimiter ,,
hbf "--decimal: expected one of . ,, got ';'" --decimal ';'
hbf "--columns: hbf has no column 'slowdwon': did you mean slowdown?" --columns slowdwon
hbf "--columns: hbf has no column 'abacus'" --columns slowdown,abacus
hbf "--columns: hbf has no column ''" --columns slowdown,
hbf '--columns: gpu names a preset, not a value' --columns gpu
hbf '--columns: slowdown is given twice' --columns slowdown,time_s,slowdown
hbf "--only: missing closing parenthesis, at letter 2 of '('" --only '('
hbf '--from answers each row once: a list or range on the command line has no place there' \
    batch=1,2 --from gpus.csv
refuses 'policy=h3,ideal: explain takes one scenario, not 2' \
    explain hbf model=llama-8b policy=h3,ideal
refuses 'batch=2: batch is given twice' explain hbf model=llama-8b batch=1 batch=2
refuses "validate: 'model=llama-8b' is one word too many" validate hbf model=llama-8b
refuses "list: expected one of systems, fields, columns, policies, parameters, scores, units, gpus, models, flash, apps, kernels, prefetch-kernels" \
    list
refuses "nothing to list under 'gpu': did you mean gpus?" list gpu
refuses "nothing to list under 'abacuses': list --help shows the subjects" list abacuses
refuses 'list fields: expected a system: list fields hbf' list fields
refuses "no system 'hbg': did you mean hbf?" list fields hbg
refuses "list: 'more' is one word too many" list fields hbf more

finish
