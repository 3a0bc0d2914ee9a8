# What the figures of doc/performance.md share: legible on a white page and on a dark one.
set terminal svg noenhanced size 760,400 dynamic font 'sans-serif,13'
set border 3 lc rgb '#808890'
set tics nomirror textcolor rgb '#808890'
set grid lc rgb '#808890' dt 3
set key left top Left reverse textcolor rgb '#808890' samplen 2
set xlabel 'bytes' textcolor rgb '#808890'
set logscale x 2
set xtics ('8' 8, '64' 64, '512' 512, '4K' 4096, '32K' 32768, '256K' 262144, '2M' 2097152, '16M' 16777216, '64M' 67108864)
