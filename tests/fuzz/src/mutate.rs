//! Seeded mutations: the same seed gives the same inputs.

/// Longest input, in bytes.
pub(crate) const MOST: usize = 512;

/// xorshift64*: small, fast, and never 0.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        // Neighbouring seeds begin far apart.
        Random((seed.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }
}

const NUMBERS: [u64; 8] = [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, i64::MAX as u64, u64::MAX];

/// The input number `n` of a seed: one of the `seeds`, or nothing but noise, changed at a few places.
pub(crate) fn input(seeds: &[Vec<u8>], seed: u64, n: u64) -> Vec<u8> {
    let random = &mut Random::new(seed ^ n.wrapping_mul(0xd134_2543_de82_ef95));
    let mut input = match random.below(seeds.len() + 1) {
        0 => noise(random, MOST),
        chosen => seeds[chosen - 1].clone(),
    };
    for _ in 0..=random.below(8) {
        change(&mut input, seeds, random);
    }
    input.truncate(MOST);
    input
}

fn noise(random: &mut Random, most: usize) -> Vec<u8> {
    let len = 1 + random.below(most);
    (0..len).map(|_| random.next() as u8).collect()
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len().max(1));
    let put =
        |input: &mut Vec<u8>, bytes: &[u8]| input.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
    match random.below(8) {
        0 => put(input, &[random.next() as u8]),
        1 => put(input, &(1_u8 << random.below(8)).to_le_bytes()),
        2 => put(input, &NUMBERS[random.below(NUMBERS.len())].to_le_bytes()[..1 << random.below(4)]),
        3 => put(input, &noise(random, 8)),
        4 => input.truncate(at),
        5 => input.splice(at..at, noise(random, 16)).for_each(drop),
        6 => {
            let end = (at + random.below(16)).min(input.len());
            input.drain(at.min(end)..end);
        }
        _ => {
            let other = seeds.get(random.below(seeds.len())).map_or(&[][..], Vec::as_slice);
            let from = random.below(other.len().max(1)).min(other.len());
            input.splice(at.min(input.len()).., other[from..].iter().copied()).for_each(drop);
        }
    }
}
