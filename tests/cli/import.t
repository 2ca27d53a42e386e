#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# import: what it refuses, every kind by hand-made files, maps, remarks and exit codes.

. "${0%/*}/lib.sh"

fixtures=$source_tree/tests/fixtures/import
usage='KIND FILE... [options]'
cp "$fixtures"/* .

# ---- what is refused ----

refuses "import: expected a kind and files: import $usage" import
refuses "import: expected a kind and files: import $usage" import accelsim
kinds='auto, uvmsmart, accelsim, dramsim3, ramulator2, mqsim, ncu, nsys, nvprof'
refuses "import: expected a kind ($kinds), got 'acelsim': did you mean accelsim?" import acelsim a.log
refuses "import: expected a kind ($kinds), got 'spice'" import spice a.log
refuses 'none.log: No such file or directory' import accelsim none.log
refuses 'no option --kep: did you mean --keep?' import accelsim accelsim.log --kep x
refuses "--keep: missing closing parenthesis, at letter 2 of '('" import accelsim accelsim.log -k '('
refuses "--name: expected a pattern with named groups, as in 'w(?<warps>\\d+)', got 'w'" \
    import accelsim accelsim.log --name w
refuses "--columns: no column 'cycle': did you mean cycles?" import accelsim accelsim.log -c cycle
refuses "--format: expected one of table, csv, tsv, json, jsonl, md, got 'xml'" \
    import accelsim accelsim.log -f xml
refuses "--gpu: expected a row of gpus, got 'a10': did you mean a100?" \
    import accelsim accelsim.log --gpu a10
refuses 'cannot write none/x.csv: No such file or directory' import accelsim accelsim.log -o none/x.csv
cp accelsim.log copy.log
refuses '-o: copy.log would replace what is read' import accelsim copy.log -o copy.log
ok 'which still stands' cmp copy.log accelsim.log
mkdir dir
refuses 'dir: Is a directory' import accelsim dir
: >empty
refuses 'empty: is empty' import auto empty
echo hello >hello
refuses 'hello: is of no kind that is known; expected results of a simulator or a profiler' \
    import auto hello
refuses 'hello: expected logs of GPGPU-Sim 3.x and 4.x and of Accel-Sim, got none' import accelsim hello
refuses 'hello: expected a header with the column Kernel Name, got none: is it from ncu --csv?' \
    import ncu hello
printf '<MQSim_Results>\n<a></b>\n' >bad.xml
refuses 'bad.xml:2: is no XML of results: mismatched tag' import mqsim bad.xml
refuses 'hello: expected the element MQSim_Results, got none' import mqsim hello
printf 'MQSim\n' >>hello
check_run 'talk of MQSim' 1 'part' 'stallcast: hello: is what MQSim printed; its results are in the XML file beside the workload' \
    stallcast import mqsim hello -c part
echo hello >hello

# ---- counters below 0, names that do not match ----

negative="accelsim.log:25: l1_misses falls from 0 to -30720: left empty"
sed 's/gpu_sim_cycle *= *[0-9]*/gpu_sim_cycle = -5/' "$source_tree"/data/examples/accelsim.log >below.log
stallcast import accelsim below.log -c kernel,cycles,time_s >out 2>err
ok 'a negative counter is no count, nor is what follows from it' sh -c \
    '[ "$(cat out)" = "kernel,cycles,time_s
load_8_warps,,
load_32_warps,," ] && [ "$(grep -c "^stallcast: below.log:[0-9]*: cycles is negative, -5: left empty$" err)" -eq 2 ]'
sed 's/L1D_total_cache_misses = 30720/L1D_total_cache_misses = -30720/' "$source_tree"/data/examples/accelsim.log >below.log
check_run 'nor the difference of the next kernel' 0 'kernel,l1_misses
load_8_warps,
load_32_warps,' "stallcast: below.${negative#*.}" stallcast import accelsim below.log -c kernel,l1_misses
cp "$source_tree"/data/examples/accelsim.log w8.log
cp w8.log other.log
check_run 'a name that --name does not match is said' 0 'file,w
w8.log,8
w8.log,8
other.log,
other.log,' 'stallcast: other.log: --name: does not match it' \
    stallcast import accelsim w8.log other.log --name 'w(?<w>\d+)' -c file,w

# ---- maps ----

map_refuses() {
    refuses "--map: $1" import accelsim accelsim.log -m "$2"
}
map_refuses "expected NAME=EXPRESSION or the name of a map, got 'steam': did you mean stream?" steam
map_refuses "expected NAME=EXPRESSION, got '=5'" =5
map_refuses "a: 1+: expected a number, a column or '(', got the end" 'a=1+'
map_refuses "a: (1: expected an operator or ')', got the end" 'b=1; a=(1; c=2'
map_refuses "a: cycle*2: no column 'cycle': did you mean cycles?" 'a=cycle*2'
map_refuses "a: b: no column 'b'" 'a=b; b=1'
check_run 'computed, renamed, computed from that, made anew' 0 \
'kernel,cycles,gb,name,twice
load,5000,8e-06,load,0.000016
_Z4copyPfS_,3000,1.6e-06,_Z4copyPfS_,3.2e-06' '' \
    stallcast import accelsim accelsim.log -m 'gb=dram_read_bytes / 1e9; name=kernel' \
    -m 'twice = 2 * gb; cycles = cycles/2' -c kernel,cycles,gb,name,twice
check_run 'min leaves out what is empty, division by nothing is nothing' 0 \
'a,b,c
5,,8
5,,8' '' stallcast import accelsim gpgpusim3.log gpgpusim3.log -c a,b,c \
    -m 'a=min(launch_cycles, 5); b=1/(ctas-20); c="channel_bytes"'
check_run 'text is no number, and that is said' 0 'a
""
""' "stallcast: --map: 2 of 2 rows have text where a number is needed: accelsim.log:41: kernel: expected a number, got 'load'" \
    stallcast import accelsim accelsim.log -m 'a=kernel+1' -c a
check_run 'a map too many' 2 '' 'stallcast: --map: more than 32 of them' \
    sh -c "'$program' import accelsim accelsim.log $(printf -- '-m a=1 %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33)"

# ---- a scenario of stream: what was imported is what is answered ----

doubts='stallcast: 1 of 2 rows, the first accelsim.log:107: caches serve more than a tenth of the loads, and stream has none
stallcast: 1 of 2 rows, the first accelsim.log:107: the kernel stores, and stream only loads'
scenario=sms,warps_per_sm,loads_per_warp,bytes_per_load_B,outstanding_per_warp,latency_cycles
check_run '--map stream' 0 "$scenario
2,6,5,128,1,331
2,16,2,128,1,331" "$doubts" stallcast import accelsim accelsim.log -m stream -c $scenario

# A kernel of 20 SMs x 8 warps x 48 loads of 128 B, as a log tells it, and the same by its keys.
sed -e '/^kernel_name = _Z4/,/silicon_slowdown = 244650x/d' -e '/_Z4copy/,/uid: 2/d' \
    -e 's/n_clusters  *2 /n_clusters 20 /' -e 's/(2,3,1)/(20,1,1)/' -e 's/(64,1,1)/(256,1,1)/' \
    -e 's/domains .* #/domains 1132.0:1132.0:1132.0:850.0 #/' -e 's/= 10000$/= 21272/' \
    -e 's/load_insn  = 2048/load_insn  = 245760/' -e 's/read_global = 256/read_global = 30720/' \
    -e 's/dram reads = 250/dram reads = 30720/' -e 's/mem_to_simt=250/mem_to_simt=30720/' accelsim.log >sweep_w8.log
key='warps_per_sm=8 loads_per_warp=48 bytes_per_load=128B latency=331cycles bandwidth=217.6GB/s'
wanted=$("$program" estimate stream $key -c cycles -f csv --digits all | tail -n 1 | sed 's/.*,//')
"$program" import accelsim sweep_w8.log -m stream >rows.csv 2>err
ok 'no doubt about it' test ! -s err
"$program" estimate stream --from rows.csv -c cycles --digits all >answers.csv 2>err
ok 'the row of a log is the scenario of its keys' sh -c "
    [ \"\$(tail -n 1 answers.csv | awk -F, '{ print \$(NF - 1) }')\" = '$wanted' ]"
ok 'within 2 % of the cycles that the simulator took' sh -c "
    awk 'BEGIN { e = $wanted / 21272 - 1; exit !(e < 0.02 && e > -0.02) }'"


# 30720 sectors x 2000 cycles over 16272 cycles are 3775.8 in flight: 5.9 loads of each of 160 warps.
sed 's/averagemflatency = 300/averagemflatency = 2000/' sweep_w8.log >deep.log
deep='stallcast: 1 of %d rows, the first deep.log:36: a warp has more than one load outstanding, and how many a log does not say: outstanding_per_warp is the least that there can be; give it if you know it'
check_run 'more than one load outstanding' 0 'outstanding_per_warp
6' "$(printf "$deep" 1)" stallcast import accelsim deep.log -m stream -c outstanding_per_warp
check_run 'given' 0 'outstanding_per_warp
8' '' stallcast import accelsim deep.log -m stream -m outstanding_per_warp=8 -c outstanding_per_warp
cp deep.log deep_mlp8.log
check_run 'given by the name of the file' 0 'outstanding_per_warp
6
8' "stallcast: deep.log: --name: does not match it
$(printf "$deep" 2)" stallcast import accelsim deep.log deep_mlp8.log -m stream --name 'mlp(?<outstanding_per_warp>\d+)' \
    -c outstanding_per_warp
check_run 'only where there is nothing' 0 'dram_reads,cycles
250,1
50,1' '' stallcast import accelsim accelsim.log -m 'dram_reads?=1; cycles=1' -c dram_reads,cycles

check_run 'what the log does not have' 0 'sms,warps_per_sm,loads_per_warp
,,' 'stallcast: 1 of 1 rows, the first bare.log:1: the log does not have all that stream asks for: what is empty takes its default there' \
    sh -c "printf 'kernel_name = k\nkernel_launch_uid = 1\ngpu_sim_cycle = 5\nGPGPU-Sim: *** exit detected ***\n' >bare.log
        '$program' import accelsim bare.log -m stream -c sms,warps_per_sm,loads_per_warp"
sed 's/load_insn  = .*/load_insn  = 0/' sweep_w8.log >idle.log
check_run 'a kernel without loads' 0 'loads_per_warp,bytes_per_load_B
1,' 'stallcast: 1 of 1 rows, the first idle.log:36: the kernel loads nothing, so stream does not describe it
stallcast: 1 of 1 rows, the first idle.log:36: the log does not have all that stream asks for: what is empty takes its default there' \
    stallcast import accelsim idle.log -m stream -c loads_per_warp,bytes_per_load_B

# ---- what makes a row unfit to be compared ----

unfit() {
    check_run "not_counted: $1" 0 "$2" '' sh -c "'$program' import accelsim $3 -m stream $4 -c not_counted -f jsonl 2>/dev/null"
}
unfit 'stores, and caches' '{"not_counted":null}
{"not_counted":"caches serve more than a tenth of the loads; the kernel stores"}' accelsim.log
unfit 'a guess' '{"not_counted":"outstanding_per_warp is a guess"}' deep.log
unfit 'given' '{"not_counted":null}' deep.log '-m outstanding_per_warp=8'
unfit 'no load' '{"not_counted":"the kernel loads nothing"}' idle.log
unfit 'a column of that name stays' '{"not_counted":7}' deep.log '-m not_counted=7'
check_run 'the last column, and only with a ready map' 0 'not_counted
latency_cycles' '' sh -c "'$program' import accelsim sweep_w8.log -m stream | sed -n '1s/.*,//p'
    '$program' import accelsim sweep_w8.log -m latency_cycles=1 | sed -n '1s/.*,//p'"

# ---- kinds ----

check_run 'accelsim' 0 \
'file,file_line,format,run_ended,kernel,kernel_whole,ctas,cycles,l1_accesses,dram_reads,memory_latency_cycles
accelsim.log,41,accelsim,complete,load,1,6,10000,256,250,300
accelsim.log,107,accelsim,complete,_Z4copyPfS_,1,4,6000,256,50,100' '' stallcast import accelsim accelsim.log \
    -c file,file_line,format,run_ended,kernel,kernel_whole,ctas,cycles,l1_accesses,dram_reads,memory_latency_cycles
check_run 'GPGPU-Sim 3' 0 'kernel,dram_reads,dram_writes,bandwidth_bytes_per_s
_Z3addPf,160,80,177408000000' '' \
    stallcast import accelsim gpgpusim3.log -c kernel,dram_reads,dram_writes,bandwidth_bytes_per_s
check_run '--keep' 0 'gpu_stall_dramfull,DRAM[0].n_act,-gpgpu_scheduler
17,2,gto
20,,gto' '' stallcast import accelsim accelsim.log -k 'dramfull|n_act$|scheduler' \
    -c 'gpu_stall_dramfull,DRAM[0].n_act,-gpgpu_scheduler'
check_run 'uvmsmart' 0 'scope,page_faults,memcpy_h2d_bytes,pcie_read_utilisation
kernel,,,
run,99,65536,1.004862' '' \
    stallcast import uvmsmart uvmsmart.log -c scope,page_faults,memcpy_h2d_bytes,pcie_read_utilisation
check_run 'dramsim3' 0 'file,channel,epoch,reads,throughput_bytes_per_s
dramsim3.txt,0,0,19931,116034000000
dramsim3.txt,1,,5,500000000
dramsim3.json,0,0,19931,116034000000
dramsim3.json,1,,5,500000000
dramsim3epoch.json,0,0,,1500000000
dramsim3epoch.json,0,1,,2500000000' '' stallcast import dramsim3 dramsim3.txt dramsim3.json dramsim3epoch.json \
    -c file,channel,epoch,reads,throughput_bytes_per_s
check_run 'ramulator2' 0 'channel,read_latency_cycles,printed_read_latency_cycles
0,60,25
1,60,50' 'stallcast: ramulator2.txt:25: 100 reads were sent for 50 taken: avg_read_latency is too low, read_latency_cycles is from the counts' \
    stallcast import ramulator2 ramulator2.txt -c channel,read_latency_cycles,printed_read_latency_cycles
check_run 'mqsim' 0 'part,name,requests_per_s,response_s,queue_waiting_s
Host.IO_Flow,Host.IO_Flow.Synth.No_0,,0.000449,
SSDDevice.IO_Stream,0,,,
SSDDevice.FTL,,,,
SSDDevice.TSU.User_Write_TR_Queue.Priority.HIGH,User_Write_TR_Queue@0@0@HIGH,,,0.003102
SSDDevice.FlashChips,@0@0,,,' '' \
    stallcast import mqsim mqsim.xml -c part,name,requests_per_s,response_s,queue_waiting_s
check_run 'ncu: rows that are not clear are told, and the exit code is 1' 1 \
'kernel,kernel_id,time_s,dram_read_bytes
"void axpy<float, 4>(int, float *)",0,0.0013622,2500000
"void axpy<float, 4>(int, float *)",1,9.8e-07,' \
'stallcast: ncu_long.csv:13: expected 15 fields, got 16: commas within numbers that have no quotes cannot be told from those between fields
stallcast: ncu_long.csv:14: dram__bytes_write.sum: expected a number as 1,234.5, got '"'9,00'" \
    stallcast import ncu ncu_long.csv -c kernel,kernel_id,time_s,dram_read_bytes
sed 1,4d ncu_long.csv | sed -n '1p;9p' >many.csv
for i in 1 2 3 4 5 6 7 8; do sed -n '8,9p;8,9p' ncu_long.csv >>many.csv; sed -n 13p ncu_long.csv >>many.csv; sed -n 13,14p ncu_long.csv >>many.csv; done
"$program" import ncu many.csv >out 2>err
ok 'the first twenty remarks on a file, and how many more' sh -c '
    [ $? -eq 0 ] && [ "$(wc -l <err)" -eq 21 ] && tail -n 1 err | grep -qx "stallcast: many.csv: [0-9]* remarks more"'
check_run 'ncu: wide and summary in one table' 0 'kernel,time_s,dram_read_bytes,lts__t_bytes.sum (B)
gemm,0.0025,1024500,
gemm,0.003,,
gemm,0.00002,,1500000
axpy,0.001,,' '' stallcast import ncu ncu_wide.csv ncu_summary.csv \
    -c 'kernel,time_s,dram_read_bytes,lts__t_bytes.sum (B)'
check_run 'nsys' 0 'report,kernel,count,time_s,host_to_device_bytes,gpu_page_faults
cuda_gpu_kern_sum,"void axpy<float, 4>(int, float *)",3,1.5e-06,,
cuda_gpu_kern_sum,scale,1,5e-07,,
um_total_sum,,,,3050439000,38007
cuda_gpu_mem_size_sum,[CUDA Unified Memory memcpy HtoD],43958,,,
um_total_sum,,,,3050439000,38007' \
'stallcast: nsys.csv:12: SKIPPED: report.sqlite does not contain CUDA Unified Memory CPU page faults data.' \
    stallcast import nsys nsys.csv nsys.txt -c report,kernel,count,time_s,host_to_device_bytes,gpu_page_faults
check_run 'nvprof' 0 'device,kernel,calls,host_to_device_bytes,cpu_page_faults
,"add(int, float*, float*)",2,,
,[CUDA memcpy HtoD],1,,
Tesla V100-SXM2-16GB (0),,,8388608,36
,"add(int, float*, float*)",2,,
Tesla P100 (0),,,8388608,
Tesla P100 (1),,,,
host,,,,36' '' stallcast import nvprof nvprof.txt nvprof.csv -c device,kernel,calls,host_to_device_bytes,cpu_page_faults

# ---- found out, from anywhere ----

for file in $(cd "$fixtures" && ls); do
    kind=${file%%[._0-9]*}
    case $file in gpgpusim3*) kind=accelsim ;; dramsim3*) kind=dramsim3 ;; ramulator2*) kind=ramulator2 ;; esac
    "$program" import auto "$file" >auto.out 2>auto.err
    ok "$file is found out" grep -qx "stallcast: $file: read as $kind" auto.err
    "$program" import $kind "$file" >told.out 2>/dev/null
    ok "$file is the same as told" cmp auto.out told.out
done
check_run 'several kinds in one table' 0 'format,kernel,channel,cycles
accelsim,load,,10000
accelsim,_Z4copyPfS_,,6000
dramsim3,,0,100000
dramsim3,,1,100000' 'stallcast: accelsim.log: read as accelsim
stallcast: dramsim3.json: read as dramsim3' \
    stallcast import auto accelsim.log dramsim3.json -c format,kernel,channel,cycles
two='kernel,cycles
load,10000
_Z4copyPfS_,6000'
check_run 'standard input' 0 "$two" '' sh -c "'$program' import accelsim - -c kernel,cycles <accelsim.log"
check_run 'a pipe, byte by byte' 0 "$two" '' \
    sh -c "dd if=accelsim.log bs=1 status=none | '$program' import accelsim - -c kernel,cycles"
for pair in 'gzip gz' 'zstd zst'; do
    tool=${pair% *} end=${pair#* }
    if ! command -v $tool >/dev/null; then
        skip "no $tool"
        continue
    fi
    $tool -c accelsim.log 2>/dev/null >accelsim.log.$end
    check_run "$end" 0 "$two" '' stallcast import accelsim accelsim.log.$end -c kernel,cycles
    head -c 500 accelsim.log.$end >cut.$end
    refuses "cut.$end: cannot be unpacked: $tool ends with exit code 1" import accelsim cut.$end
done
sed 's/$/\r/' accelsim.log >crlf.log
check_run 'CRLF' 0 "$two" '' stallcast import accelsim crlf.log -c kernel,cycles
cp accelsim.log run_w8_tall.log
check_run '--name' 0 'cycles,warps_per_sm,shape
10000,8,tall
6000,8,tall' '' stallcast import accelsim run_w8_tall.log -c cycles,warps_per_sm,shape \
    --name 'w(?<warps_per_sm>\d+)_(?<shape>[a-z]+)'

check_run '--keep that matches nothing says so' 0 "$two" \
    'stallcast: accelsim.log: --keep: matches no statistic of it' \
    stallcast import accelsim accelsim.log -c kernel,cycles --keep '^gpu_stal_'
head -c 20000 "$program" >noise.bin
for kind in ${kinds#auto, }; do
    kind=${kind%,}
    ok "$kind: noise is unreadable, not an empty table" sh -c "
        '$program' import $kind noise.bin >out 2>err
        [ \$? -eq 2 ] && [ ! -s out ] && [ \$(wc -l <err) -eq 1 ] &&
            grep -q '^stallcast: noise.bin: .*expected .*got' err || { cat out err; false; }"
done

# ---- runs that did not end well ----

head -n 130 accelsim.log >cut.log
check_run 'a log that is cut keeps its whole kernels' 1 'run_ended,kernel,cycles
truncated,load,10000' 'stallcast: cut.log:107: kernel '"'_Z4copyPfS_'"' is cut off and left out
stallcast: cut.log:122: the log has no end: its whole kernels are there' \
    sh -c "head -n 122 cut.log >x; mv x cut.log; '$program' import accelsim cut.log -c run_ended,kernel,cycles"
sed 's/^GPGPU-Sim: \*\*\* simulation thread/GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **\n&/' \
    accelsim.log >stopped.log
check_run 'a run that was stopped' 0 'run_ended,kernel,kernel_whole
stopped,load,1
stopped,_Z4copyPfS_,0' 'stallcast: stopped.log:135: the run was stopped by a limit: its last kernel is not whole' \
    stallcast import accelsim stopped.log -c run_ended,kernel,kernel_whole
check_run 'which is then unfit' 0 'not_counted
""
caches serve more than a tenth of the loads; the kernel stores; the run was stopped within the kernel' '' \
    sh -c "'$program' import accelsim stopped.log -m stream -c not_counted 2>/dev/null"
printf 'MQSim started at noon\nERROR:no trace\n' >talk.txt
check_run 'what MQSim prints' 1 'part,name' "stallcast: talk.txt:2: MQSim ended in 'ERROR:no trace'" \
    stallcast import mqsim talk.txt -c part,name
echo old >old.csv
check_run 'a file that is none' 2 '' 'stallcast: dramsim3.json: read as dramsim3
stallcast: hello: is of no kind that is known; expected results of a simulator or a profiler' \
    stallcast import auto dramsim3.json hello -o old.csv
ok 'a file is whole or not at all' sh -c '[ "$(cat old.csv)" = old ]'

# ---- the bandwidth of a configuration ----

bandwidth() {
    check_run "$1" 0 'cycles
10000
6000' "$2" stallcast import accelsim "$3" -c cycles $4
}
mkdir SM80_A100 && cp accelsim.log SM80_A100
wrong='8 channels x 16 B x 1 GHz are 128 GB/s, 0.0628 times the 2.039 TB/s of a100 (40 channels x 128 bits x 3.186 GT/s): is the configuration right?'
bandwidth 'by the path' "stallcast: SM80_A100/accelsim.log: $wrong" SM80_A100/accelsim.log
bandwidth 'by --gpu' "stallcast: accelsim.log: $wrong" accelsim.log '--gpu a100'
sed 's/n_mem  *8 /n_mem 40 /; s/domains .* #/domains 1410.0:1410.0:1410.0:1593.0 #/' accelsim.log >right.log
bandwidth 'that is right' '' right.log '--gpu a100'
sed 's/buswidth  *16 /buswidth 4 /' right.log >four.log
bandwidth 'that is wrong by 4' 'stallcast: four.log: 40 channels x 4 B x 3.186 GHz are 509.8 GB/s, 0.25 times the 2.039 TB/s of a100 (40 channels x 128 bits x 3.186 GT/s): is the configuration right?' \
    four.log '--gpu a100'
bandwidth 'without a name' '' accelsim.log

# ---- how it is written ----

check_run 'a table' 0 'kernel       time (us)  dram_read (kB)
load                10             8.0
_Z4copyPfS_          6             1.6' '' stallcast import accelsim accelsim.log -f table -c kernel,time_s,dram_read_bytes
check_run 'JSON' 0 '[
{"kernel":"load","ipc":0.4352},
{"kernel":"_Z4copyPfS_","ipc":1.5}
]' '' stallcast import accelsim accelsim.log -f json -c kernel,ipc
check_run 'a decimal comma' 0 'kernel;ipc
load;0,4352
_Z4copyPfS_;1,5' '' stallcast import accelsim accelsim.log --decimal , -c kernel,ipc
"$program" import accelsim accelsim.log >all.csv
ok 'no nan, no inf' sh -c '! grep -Eiw "nan|inf" all.csv'
ok 'every row has every column' sh -c 'awk -F, "{ print NF }" all.csv | sort -u | wc -l | grep -qx 1'

# ---- lists and help ----

"$program" import --list >list
ok '--list has every kind' sh -c 'for kind in accelsim uvmsmart dramsim3 ramulator2 mqsim ncu nsys nvprof; do
    grep -q "^$kind  *[a-z]" list || exit 1; done'
check_run '--list of a kind' 0 'kind,column,key,help
all,file,-,where the row is from
all,file_line,-,line on which it begins there; nothing for JSON
all,format,-,the kind of file' '' sh -c "'$program' import --list nsys -f csv | head -n 4"
"$program" import --help >help
ok '--help fits a page' sh -c '! grep -n "^.\{101\}" help'

finish
