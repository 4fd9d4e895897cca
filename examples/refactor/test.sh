#!/bin/sh
# What the program prints, which no step may change.
sh report.sh sold.txt | diff expected.txt -
