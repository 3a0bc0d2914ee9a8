# How the tables of make bench write numbers.
function size(bytes) {
    return bytes % 1048576 == 0 ? bytes / 1048576 "M" : bytes % 1024 == 0 ? bytes / 1024 "K" : bytes
}
function digits(value) {
    return sprintf(value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
}
