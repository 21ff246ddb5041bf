mod cases;
mod random;
